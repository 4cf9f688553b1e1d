"""Points on the workers of a Dask scheduler."""

from sweeping import UserError, point


def outcomes(tasks, folder, address, timeout):
    """Outcomes of the tasks, (key, command), in the order in which they end. Dask runs a point again whose worker died.

    Workers need the checkout and the program under the same path as here. At most four points for each of their threads
    wait at the scheduler, so that another sweep's results are seen and a sweep that ends leaves little behind.
    """
    try:
        import cloudpickle
        from distributed import Client, as_completed
    except ImportError:
        raise UserError("--dask needs distributed: apt-get install python3-distributed") from None
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"--dask {address}: no scheduler answers: {error}") from None
    try:
        if not client.ncores():
            client.wait_for_workers(1, timeout=60)
        # Workers have no need to find this package: the function is sent as it is.
        cloudpickle.register_pickle_by_value(point)
        yield from _run(client, as_completed, iter(tasks), folder, timeout)
    except (OSError, TimeoutError) as error:
        raise UserError(f"--dask {address}: {error}; the same command goes on") from None
    finally:
        client.close()


def _run(client, as_completed, tasks, folder, timeout):
    most = 4 * max(1, sum(client.ncores().values()))
    running = as_completed(loop=client.loop)
    commands = {}

    def start(task):
        # A point may take any time and is a process of its own, so a death of its worker says nothing about the point.
        future = client.submit(point.run, *task, folder, timeout, key=f"trnsim-{task[0]}", pure=False, retries=10)
        commands[future.key] = task
        running.add(future)

    for _ in range(most):
        if (task := next(tasks, None)) is None:
            break
        start(task)
    for future in running:
        task = commands.pop(future.key)
        if future.status == "finished":
            outcome = future.result()
        else:
            outcome = _failed(task[0], f"Dask: {future.exception()!r}")
        future.release()
        if (task := next(tasks, None)) is not None:
            start(task)
        yield outcome
        if not commands:
            return


def _failed(key, why):
    return {"point": key, "started": 0.0, "wall_s": 0.0, "host": "", "pid": 0, "exit_code": None, "stdout": "", "stderr": why}
