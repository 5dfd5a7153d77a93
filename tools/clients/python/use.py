"""Uses the client that openapi-python-client generates."""

import os
import time

from timerbus_client import AuthenticatedClient
from timerbus_client.api.timers import create_timer, delete_timer, get_timer, list_timers, update_timer
from timerbus_client.models import (
    CreateTimerRequest,
    DeleteTimerRequest,
    Error,
    ErrorCode,
    ListTimersRequest,
    RetryPolicyInput,
    Status,
    Timer,
    TimerPage,
    TimerSelection,
    UpdateTimerRequest,
)
from timerbus_client.types import Unset


def found(answer: object) -> Timer:
    assert isinstance(answer, Timer), answer
    return answer


def main() -> None:
    client = AuthenticatedClient(base_url=os.environ["TIMERBUS_URL"], token=os.environ["TIMERBUS_TOKEN"], raise_on_unexpected_status=True)
    name = "python"
    request = CreateTimerRequest(
        id=name,
        execute_in="1d",
        callback_url="https://shop.example/expire",
        callback_timeout_seconds=5,
        retry_policy=RetryPolicyInput(max_attempts=3),
        correlation_id=name,
        payload={"order": 17},
    )
    created = found(create_timer.sync(client=client, body=request))
    assert created.namespace == "default"
    assert created.callback_timeout_seconds == 5
    assert created.payload == {"order": 17}

    selection = TimerSelection(timer_id=name)
    assert found(get_timer.sync(client=client, body=selection)) == created
    page = list_timers.sync(client=client, body=ListTimersRequest(correlation_id=name))
    assert isinstance(page, TimerPage), page
    assert [t.id for t in page.timers] == [name]
    assert isinstance(page.next_cursor, Unset)

    updated = found(update_timer.sync(client=client, body=UpdateTimerRequest(timer_id=name, execute_in="2d", payload=None)))
    assert updated.execute_at > created.execute_at
    assert isinstance(updated.payload, Unset), "an absent payload is left out"

    deleted = delete_timer.sync_detailed(client=client, body=DeleteTimerRequest(timer_id=name, if_generation=updated.generation))
    assert deleted.status_code == 204
    gone = get_timer.sync(client=client, body=selection)
    assert isinstance(gone, Error), gone
    assert gone.error == ErrorCode.TIMER_NOT_FOUND
    assert gone.details["timerId"] == name

    found(create_timer.sync(client=client, body=CreateTimerRequest(id=name, execute_in="0s", payload=1)))
    end = time.monotonic() + 20
    while (done := found(get_timer.sync(client=client, body=selection))).status != Status.DONE:
        assert time.monotonic() < end, done
        time.sleep(0.1)
    assert isinstance(done.payload, Unset), "a timer that is done has no payload"


if __name__ == "__main__":
    main()
