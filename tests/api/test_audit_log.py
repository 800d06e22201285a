"""The audit log tells who did what to which resource, to those who may know."""

import json

from agentscope.testing.rest import RestService


def _entries(service: RestService, user: str) -> list[tuple[str, int, dict[str, str]]]:
    found = service.json("GET", "/audit_log", user=user)["entries"]
    return [(entry["action"], entry["status"], entry["resources"]) for entry in found]


def test_every_change_is_in_the_log_and_no_reading(service: RestService, user: str) -> None:
    """In order, with the ids of what was made and changed; nothing of the content."""
    kb = service.knowledge_base(user=user)
    document = service.ready(kb, "private-name.txt", b"private words", user=user)
    service.json("POST", f"/knowledge_bases/{kb}/search", user=user, json={"query": "words"})
    service.call("GET", f"/knowledge_bases/{kb}/documents", user=user)
    service.call("PATCH", f"/knowledge_bases/{kb}", user=user, json={"name": "private title"})
    service.call("DELETE", f"/knowledge_bases/{kb}/documents/{document}", user=user)
    service.call("DELETE", f"/knowledge_bases/{kb}/documents/{'0' * 32}", user=user)
    path = "/knowledge_bases/{knowledge_base_id}"
    both = {"knowledge_base_id": kb, "document_id": document}
    entries = _entries(service, user)
    assert [entry[0] for entry in entries][:4] == [
        "POST /knowledge_bases",
        f"POST {path}/documents",
        f"PATCH {path}",
        f"DELETE {path}/documents/{{document_id}}",
    ]
    assert entries[0][1:] == (201, {"knowledge_base_id": kb})
    assert entries[1][1] == 201
    assert both.items() <= entries[1][2].items()
    assert entries[3][1:] == (204, both)
    text = service.call("GET", "/audit_log", user=user).text
    assert "private" not in text
    assert f'"actor":"{user}"' in text


def test_pages_and_the_export_hold_the_same_entries(service: RestService, user: str) -> None:
    """JSON lines in one answer, or pages that follow each other."""
    for number in range(5):
        service.knowledge_base(user=user, name=f"base {number}")
    lines = service.call("GET", "/audit_log", user=user, params={"format": "jsonl"})
    assert lines.headers["content-type"] == "application/x-ndjson"
    exported = [json.loads(line) for line in lines.text.splitlines()]
    paged, after = [], ""
    while after is not None:
        page = service.json("GET", "/audit_log", user=user, params={"after": after, "limit": 2})
        paged += page["entries"]
        after = page["next"]
    assert paged == exported
    assert len(exported) == 5
    assert [entry["id"] for entry in exported] == sorted(entry["id"] for entry in exported)


def test_a_log_is_its_users_alone(service: RestService, user: str) -> None:
    """Another user, whose name begins alike, sees nothing."""
    service.knowledge_base(user=user)
    assert _entries(service, user[:-1]) == []
    assert _entries(service, f"{user}0") == []
