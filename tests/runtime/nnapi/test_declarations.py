import pytest

from runtime.nnapi.declarations import ANDROID_SDK_VERSION, BY_NAME, FUNCTIONS, Null
from runtime.nnapi.state import IMPLEMENTATIONS
from runtime.nnapi.table import C_NUMBERS, NnApi
from tests.support.seed_headers import HEADER_27, TABLE_30, declared_functions

BESIDE_THE_TABLE = {
    "ANeuralNetworks_getDefaultLoopTimeout",
    "ANeuralNetworks_getMaximumLoopTimeout",
    "ANeuralNetworksDevice_wait",
    "ANeuralNetworksModel_setOperandValueFromModel",
}


def test_the_functions_are_those_of_the_table_and_what_level_30_has_beside_them() -> None:
    assert set(BY_NAME) == set(declared_functions(TABLE_30)) | BESIDE_THE_TABLE
    assert len(FUNCTIONS) == 67


@pytest.mark.parametrize("header", [HEADER_27, TABLE_30])
def test_return_types_and_argument_types_are_the_headers(header: str) -> None:
    for name, (result, arguments) in declared_functions(header).items():
        function = BY_NAME[name]
        assert function.return_type == result
        assert len(function.arguments) == len(arguments), name
        for argument, c_type in zip(function.arguments, arguments, strict=True):
            # The NDK's index of a memory's input role is unsigned, TFLite's is not.
            assert {argument.c_type, c_type} in ({c_type}, {"int32_t", "uint32_t"}), (name, argument.name)


def test_the_functions_of_level_27_are_those_of_its_header_and_shared_memory() -> None:
    level_27 = {function.name for function in FUNCTIONS if function.level == 27}
    assert level_27 == {*declared_functions(HEADER_27), "ASharedMemory_create"}


def test_the_level_is_that_of_the_newest_function() -> None:
    assert ANDROID_SDK_VERSION == 30


def test_every_function_but_free_is_implemented_in_its_family() -> None:
    assert set(IMPLEMENTATIONS) == {name for name in BY_NAME if not name.endswith("_free")}


def test_the_table_has_every_function() -> None:
    api = NnApi("tiny")
    assert api.nnapi_exists
    assert api.android_sdk_version == 30
    for name in BY_NAME:
        assert callable(getattr(api, name))


def test_every_argument_is_a_pointer_or_a_known_number() -> None:
    for function in FUNCTIONS:
        for argument in function.arguments:
            is_pointer = argument.null is not Null.NO_POINTER
            assert is_pointer == argument.c_type.endswith("*")
            assert is_pointer or argument.c_type in C_NUMBERS


def test_counts_that_decide_about_null_are_arguments() -> None:
    for function in FUNCTIONS:
        names = {argument.name for argument in function.arguments}
        assert {argument.count for argument in function.arguments} - {""} <= names


def test_a_prototype_is_the_c_declaration() -> None:
    assert BY_NAME["ANeuralNetworks_getDefaultLoopTimeout"].prototype == (
        "uint64_t ANeuralNetworks_getDefaultLoopTimeout(void)"
    )
    assert BY_NAME["ANeuralNetworksModel_setOperandExtensionData"].prototype == (
        "int ANeuralNetworksModel_setOperandExtensionData(ANeuralNetworksModel* model, int32_t index,"
        " const void* data, size_t length)"
    )


def test_handles_have_a_family_and_other_pointers_have_none() -> None:
    families = {argument.c_type: argument.family for f in FUNCTIONS for argument in f.arguments}
    assert families["const ANeuralNetworksMemoryDesc*"] == "MemoryDesc"
    assert families["ANeuralNetworksMemory*"] == "Memory"
    assert families["ANeuralNetworksMemory**"] is None
    assert families["const ANeuralNetworksOperandType*"] is None
    assert families["const ANeuralNetworksDevice* const*"] is None
