"""The framework under the units: hooks, instruction queues, semaphores, contention."""
