"""Runs tasks, somewhere: tasks.py says what that means, local.py does it in processes on this machine,
ray.py on a cluster; place.py chooses."""
