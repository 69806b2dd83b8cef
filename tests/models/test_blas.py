"""Matrix products on one thread."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from antiphon.models.blas import one_thread


def test_products_run_on_one_thread() -> None:
    np.ones((4, 4)) @ np.ones((4, 4))
    with threadpool_limits(limits=2, user_api="blas"):
        one_thread()
        threads = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    assert threads
    assert set(threads) == {1}
