package telemetry

import (
	"errors"
	"testing"
)

// many is a storage that is full after its first batch.
type many struct{ writes int }

func (m *many) Append(record []byte) error { return m.AppendAll([][]byte{record}) }

func (m *many) AppendAll([][]byte) error {
	if m.writes++; m.writes > 1 {
		return errors.New("full")
	}
	return nil
}

// TestStorageCountsRecordsOnce checks that batches remain batches and that each record is counted
// once.
func TestStorageCountsRecordsOnce(t *testing.T) {
	m, disk := NewMetrics(), &many{}
	all := m.Storage(disk)
	if all.AppendAll(make([][]byte, 3)) != nil || all.AppendAll(make([][]byte, 3)) == nil || all.Append(nil) == nil {
		t.Fatal("it does not store many")
	}
	if n, failures := m.auditRecords.Load(), m.auditFailures.Load(); n != 3 || failures != 2 || disk.writes != 3 {
		t.Errorf("%d records, %d failures, %d writes", n, failures, disk.writes)
	}
}
