package proxytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A Memory is a recorder that stores records in memory. Tests can make it fail.
type Memory struct {
	Fail  atomic.Bool // whether Append fails
	Panic atomic.Bool // whether Append panics

	mu    sync.Mutex
	lines [][]byte
}

// Append stores a record.
func (m *Memory) Append(record []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Panic.Load() {
		panic("a secret of the recorder")
	}
	if m.Fail.Load() {
		return errors.New("no space left")
	}
	m.lines = append(m.lines, bytes.Clone(record))
	return nil
}

// All returns all records unchanged.
func (m *Memory) All() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.lines)
}

// A Record contains the members of an audit record that tests examine.
type Record struct {
	Event, Decision, Kind, Tool, Outcome, Reason string
	Session, Principal, Policy, Arguments        string
	Approval, Channel, Actor, By, Said           string
	Call                                         uint64
	Shadow                                       bool
	Would                                        struct {
		Decision, Kind, Reason string
		Nets                   []struct{ Net, Rule string }
	}
}

// Decisions returns the records with the given decision or, if decision is empty, with any
// decision.
func (m *Memory) Decisions(decision string) []Record {
	return m.Matching(func(r Record) bool {
		return r.Event == "decision" && (decision == "" || r.Decision == decision)
	})
}

// Outcomes returns the outcome records.
func (m *Memory) Outcomes() []Record {
	return m.Matching(func(r Record) bool { return r.Event == "outcome" })
}

// Matching returns the records that satisfy ok.
func (m *Memory) Matching(ok func(Record) bool) []Record {
	var found []Record
	for _, line := range m.All() {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		if ok(r) {
			found = append(found, r)
		}
	}
	return found
}

// RecordsHave reports whether any record contains the text.
func (s *Site) RecordsHave(text string) bool {
	return slices.ContainsFunc(s.Records.All(), func(line []byte) bool { return strings.Contains(string(line), text) })
}
