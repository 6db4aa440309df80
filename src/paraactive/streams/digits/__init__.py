"""MNIST, with unlimited deformations (`digits`)."""
