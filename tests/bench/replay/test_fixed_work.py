from bench.replay import fixed_work as module
from bench.replay.fixed_work import fixed_work


def test_the_work_walks_one_cycle_through_all_places():
    successors = module._cycle()
    at, visited = 0, set()
    while at not in visited:
        visited.add(at)
        at = successors[at]
    assert (at, len(visited)) == (0, len(successors))


def test_its_cost_is_wall_time_and_cpu_of_this_thread():
    cost = fixed_work()
    assert 0 < cost.cpu_s <= cost.wall_s + 0.1
