package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// records holds the numbers of calls found in the logs of the proxy and the server.
type records struct {
	allowed, refused int // numbers of allowed and refused calls in the audit log
	executed         int // number of calls that reached the server
}

// readRecords reads both logs from dir.
func readRecords(dir string) (seen records, err error) {
	audit, err := os.Open(filepath.Join(dir, "audit.jsonl"))
	if err != nil {
		return seen, fmt.Errorf("opening the audit log: %w", err)
	}
	defer func() { _ = audit.Close() }()
	for d := json.NewDecoder(audit); ; {
		var entry struct{ Event, Decision string }
		if err := d.Decode(&entry); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return seen, fmt.Errorf("reading the audit log: %w", err)
		}
		switch {
		case entry.Event != "decision":
		case entry.Decision == "allow":
			seen.allowed++
		default:
			seen.refused++
		}
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls.txt"))
	if err != nil {
		return seen, fmt.Errorf("opening the record of the server: %w", err)
	}
	seen.executed = bytes.Count(calls, []byte("\n"))
	return seen, nil
}
