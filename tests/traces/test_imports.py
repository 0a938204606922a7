import subprocess
import sys


def test_importing_traces_does_not_load_matplotlib():
    code = "import sys, traces; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_plots_do_not_touch_the_global_figure_state():
    code = "import sys, traces.plots; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
