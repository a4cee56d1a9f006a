#!/usr/bin/env python3
"""Writes the vectors beside it: python3 generate.py

A vector that comes out different is a change of the protocol: the document, the vectors and all bindings change together.
"""
import json
import pathlib

import cbor_vectors as cbor
import connection_vectors as connection
import contract_vectors as contract
import image_vectors
import log_files
import log_vectors as log
from encoding import FILES

HERE = pathlib.Path(__file__).parent

for make in (connection.varints, connection.hashes, connection.frames, connection.app_payloads, connection.link_payloads, connection.client_payloads,
             log.runs, log.records, log.checkpoints, cbor.cbors, cbor.values, log_files.log_files,
             image_vectors.images):
    make()
contract.contracts(HERE)
for file, entries in FILES.items():
    seen = [(e["structure"], e["name"]) for e in entries]
    assert len(seen) == len(set(seen)), [s for s in seen if seen.count(s) > 1]
    lines = ",\n".join("  " + json.dumps(e, ensure_ascii=True) for e in entries)
    (HERE / f"{file}.json").write_text(f"[\n{lines}\n]\n")
    print(f"{file}.json: {len(entries)}")
