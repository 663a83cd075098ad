from bench.replay import fixed_work as module


def test_the_work_walks_one_cycle_through_all_places():
    successors = module._cycle()
    at, visited = 0, set()
    while at not in visited:
        visited.add(at)
        at = successors[at]
    assert (at, len(visited)) == (0, len(successors))
