import numpy as np

from grpo_ref.lab.framework.tasks.orders import random_orders


def test_every_order_has_each_number_once():
    orders = random_orders(np.random.default_rng(0), (3, 5, 2), axis=1)
    assert (np.sort(orders, axis=1) == np.arange(5)[None, :, None]).all()
    assert len({tuple(order) for order in np.moveaxis(orders, 1, -1).reshape(-1, 5)}) > 1
