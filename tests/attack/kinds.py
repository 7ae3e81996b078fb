"""
The kinds of attack that the service must survive, each with the test that tries it.

Run it to print the table: `python tests/attack/kinds.py`.
"""

from __future__ import annotations

import sys

_TESTS: dict[str, dict[str, str]] = {
    "attack/test_connections.py": {
        "bodies that never end": "test_bodies_that_never_end_take_no_thread",
        "long bodies that never end": "test_long_bodies_that_never_end_leave_threads_for_others",
        "connections without a request": "test_idle_connections_make_room_for_those_that_ask",
        "more connections than descriptors": "test_a_service_without_descriptors_answers_and_does_not_fill_its_log",
    },
    "attack/test_slow.py": {
        "bodies that are odd JSON": "test_odd_bodies_are_refused_and_hold_nobody_up",
        "answers that nobody reads": "test_answers_that_nobody_reads_hold_nobody_up",
        "the longest note": "test_the_longest_note_is_kept_in_its_own_words",
        "a long import": "test_many_rows_of_one_import_let_notes_of_others_pass",
        "heavy queries": "test_heavy_queries_of_one_caller_leave_workers_for_others",
        "exports at once": "test_exports_at_once_hold_no_writer_up",
        "long and deep expressions": "test_long_expressions_are_bounded_and_hold_nobody_up",
        "erasures while notes come": "test_erasing_many_memories_while_notes_come_leaves_nothing_half",
    },
    "attack/test_fairness.py": {
        "heavy notes": "test_while_a_heavy_note_is_read_others_are_answered",
        "many heavy notes at once": (
            "test_when_many_heavy_notes_wait_the_next_is_told_to_come_back_and_short_ones_are_taken"
        ),
        "many changes of one caller at once": "test_one_caller_leaves_places_for_changes_of_others",
        "a note that says too much": "test_a_note_that_says_more_than_its_turn_has_time_for_is_kept_in_its_own_words",
    },
    "attack/test_queries.py": {
        "queries over many values": "test_a_query_over_many_values_has_few_rows_and_takes_no_time",
        "nodes with many values": "test_many_values_everywhere_slow_no_interface_down",
    },
    "attack/test_ingest.py": {
        "documents without bounds": "test_a_document_without_bounds_is_refused_by_name_and_others_are_answered",
        "a bad document among good ones": "test_in_a_folder_only_the_document_without_bounds_is_left_out",
        "a document that takes too long": "test_a_document_that_takes_too_long_is_ended_while_others_are_answered",
        "a row without bounds": "test_a_jsonl_line_without_bounds_is_refused_before_it_is_parsed",
        "a caller who leaves long work": "test_the_work_stops_when_the_caller_leaves_and_goes_on_when_asked_again",
        "a service that ends during long work": "test_the_work_stops_when_the_service_ends",
    },
    "attack/test_imports.py": {
        "documents nested without end": "test_what_would_end_the_process_is_refused_by_name",
        "documents that take all memory": "test_a_document_has_no_more_time_and_memory_than_a_worker",
        "documents that expand": "test_statements_that_are_written_out_are_bounded_by_their_document",
        "statements that no reader could take": "test_a_statement_that_no_reader_could_take_is_named_with_its_fix",
    },
    "attack/test_integrity.py": {
        "an update of what was said": "test_an_update_that_would_change_what_was_said_is_refused_whole",
        "a graph put again with other words": "test_a_graph_that_is_put_again_with_other_words_is_refused",
        "an import that changes what was said": "test_an_import_that_would_change_what_was_said_is_refused_whole",
        "a narrow token that reads by the user": "test_a_narrow_token_reads_nothing_of_another_namespace_by_the_user",
        "a narrow import of provenance": "test_a_narrow_import_writes_no_provenance_of_another_namespace",
        "files that others may read": "test_what_is_written_is_for_its_owner_alone_also_where_it_was_not",
        "names left by an erasure": "test_what_is_erased_leaves_no_name_of_anything_behind",
    },
    "attack/test_readers.py": {
        "odd values in the graph": "test_what_is_odd_in_the_place_of_what_is_right_leaves_the_rest",
    },
    "attack/test_rivalries.py": {
        "an erasure while a note is read": "test_a_rival_that_is_erased_meanwhile_leaves_no_half_rivalry",
    },
    "attack/test_clock.py": {
        "a clock that is put back": "test_a_clock_that_is_put_right_does_not_run_backwards",
    },
    "attack/test_full_disk.py": {
        "a full disk": "test_a_store_that_could_not_write_says_so_and_writes_again_without_a_restart",
        "a start on a full disk": "test_a_start_without_room_names_the_folder_and_has_an_exit_code_of_its_own",
        "an import on a full disk": "test_an_import_of_rdf_without_room_is_refused_as_other_writes_are",
    },
    "crash/test_convert.py": {
        "a kill during a backup that is then encrypted": (
            "test_a_killed_backup_is_not_in_plain_text_beside_an_encrypted_store"
        ),
        "a kill during encrypt, decrypt or reencrypt": (
            "test_a_killed_conversion_loses_nothing_and_the_next_start_leaves_one_whole_state"
        ),
        "plain files in an encrypted folder": "test_encrypt_names_every_file_that_is_not_sealed",
    },
}
"""The tests by file below `tests`, and by the kind of attack."""

KINDS = {kind: f"{path}::{test}" for path, tests in _TESTS.items() for kind, test in tests.items()}


def draw_table() -> str:
    """Draw the kinds and their tests, one a line, numbered."""
    width = max(map(len, KINDS))
    return "\n".join(f"{number:3} {kind:{width}} {test}" for number, (kind, test) in enumerate(KINDS.items(), start=1))


if __name__ == "__main__":
    sys.stdout.write(f"{draw_table()}\n")
