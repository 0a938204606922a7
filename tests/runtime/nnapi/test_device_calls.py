import ctypes

import numpy as np

from compiler.nnapi import OperationCode
from tests.support.nnapi_client import QUANT8, Client


def test_names_and_versions_stay_where_they_are(client: Client) -> None:
    for function, expected in (("Name", [b"npu-sim-tiny", b"nnapi-reference"]), ("Version", None)):
        found = []
        for device in client.devices():
            texts = [ctypes.c_char_p() for _ in range(2)]
            for text in texts:
                client.must(f"Device_get{function}", device, ctypes.byref(text))
            addresses = [ctypes.cast(text, ctypes.c_void_p).value for text in texts]
            assert addresses[0] == addresses[1]
            found.append(texts[0].value)
        assert all(found)
        assert expected in (None, found)


def test_device_types_and_levels(client: Client) -> None:
    kinds, levels = [], []
    for device in client.devices():
        kind, level = ctypes.c_int32(), ctypes.c_int64()
        client.must("Device_getType", device, ctypes.byref(kind))
        client.must("Device_getFeatureLevel", device, ctypes.byref(level))
        kinds.append(kind.value)
        levels.append(level.value)
    assert kinds == [4, 2]
    assert levels == [30, 30]


def test_supported_operations_are_in_the_order_of_the_calls(client: Client) -> None:
    model = client.model()
    a, b, c = (client.tensor(model, 2) for _ in range(3))
    assert client.operation(model, OperationCode.ABS, [b], [c]) == 0
    assert client.operation(model, OperationCode.RELU, [a], [b]) == 0
    client.identify(model, [a], [c])
    client.must("Model_finish", model)
    answers = (ctypes.c_bool * 2)()
    devices = client.handles(client.devices())
    client.must("Model_getSupportedOperationsForDevices", model, devices, 2, answers)
    assert list(answers) == [False, True]


def test_a_run_on_two_devices_is_bit_exact(client: Client) -> None:
    model, outputs = client.add_model((4,), code=QUANT8), []
    for device in client.devices():
        execution = client.execution(client.compilation(model, [device]))
        output = np.zeros(4, np.uint8)
        for index, values in enumerate(([0, 10, 200, 255], [255, 12, 100, 255])):
            client.set_input(execution, index, np.array(values, np.uint8))
        client.set_output(execution, 0, output)
        client.must("Execution_compute", execution)
        outputs.append(output.tolist())
    assert outputs[0] == outputs[1] == [245, 12, 255, 255]
