"""Tools of this repository that the wheel does not carry: published runs, measurements, torture."""
