import pytest

from runtime.errors import BadStateError
from runtime.lifecycle import LEGAL_PHASE, Phase, require


@pytest.mark.parametrize("call", LEGAL_PHASE)
def test_a_call_is_legal_in_its_phase_and_no_other(call: str) -> None:
    require(call, LEGAL_PHASE[call])
    for phase in set(Phase) - {LEGAL_PHASE[call]}:
        with pytest.raises(BadStateError, match=f"{call}: the {phase}; this call is legal only while"):
            require(call, phase)
