"""Matrix products of numpy on one thread."""

from threadpoolctl import threadpool_limits


def one_thread() -> None:
    """For the whole process: what runs side by side are the scheduler's workers. Matrices are small here, and a second
    thread that spins beside each product made a pause cost 36 ms of CPU instead of 10."""
    threadpool_limits(limits=1, user_api="blas")
