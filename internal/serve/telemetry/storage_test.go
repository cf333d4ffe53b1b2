package telemetry

import (
	"errors"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// single stores one record at a time, many stores batches.
type (
	single struct{}
	many   struct {
		single
		writes *int
	}
)

func (single) Append([]byte) error { return nil }

func (m many) AppendAll([][]byte) error {
	if *m.writes++; *m.writes > 1 {
		return errors.New("full")
	}
	return nil
}

// TestStorageCountsRecordsOnce checks that batches stay batches and that each record is counted.
func TestStorageCountsRecordsOnce(t *testing.T) {
	m, writes := NewMetrics(), 0
	if _, ok := m.Storage(single{}).(audit.BatchStorage); ok {
		t.Error("it takes many, which it cannot store")
	}
	all, ok := m.Storage(many{writes: &writes}).(audit.BatchStorage)
	if !ok || all.AppendAll(make([][]byte, 3)) != nil || all.AppendAll(make([][]byte, 3)) == nil || all.Append(nil) != nil {
		t.Fatal("it does not store many")
	}
	if n, failures := m.auditRecords.Load(), m.auditFailures.Load(); n != 4 || failures != 1 || writes != 2 {
		t.Errorf("%d records, %d failures, %d writes", n, failures, writes)
	}
}
