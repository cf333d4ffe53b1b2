package audit

// A Storage stores records. Append takes one JSON object without a line end, and has stored it when
// it returns nil. Implementations must be safe for concurrent use.
type Storage interface {
	Append(record []byte) error
}

// A BatchStorage stores several records atomically.
type BatchStorage interface {
	Storage
	AppendAll(records [][]byte) error
}

// appendAll stores records, atomically if the storage supports that. It returns how many are stored.
func appendAll(out Storage, records [][]byte) (n int, err error) {
	if batches, ok := out.(BatchStorage); ok {
		if err := batches.AppendAll(records); err != nil {
			return 0, err
		}
		return len(records), nil
	}
	for i, r := range records {
		if err := out.Append(r); err != nil {
			return i, err
		}
	}
	return len(records), nil
}
