package approval

import (
	"encoding/json"
	"fmt"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A document is the stored form of a request, except its columns.
type document struct {
	Key Key
	Question
	Conditions
	Progress
}

// row builds the store's row for q, with the progress p.
func (q *Request) row(p Progress) (backend.Approval, error) {
	doc := document{q.Key, q.question, q.Conditions, p}
	if !isLive(p.Answer.State) {
		doc.Question = q.trimmed()
	}
	data, err := json.Marshal(doc)
	return backend.Approval{
		ID: q.ID, Key: q.Key.digest(), State: string(p.Answer.State), Session: q.Key.Session, Version: q.version,
		Created: q.Created, Expires: q.Expires, Data: data,
	}, err
}

// read decodes a row of the store.
func read(row backend.Approval) (doc document, err error) {
	if err := json.Unmarshal(row.Data, &doc); err != nil {
		return doc, fmt.Errorf("approval %s in the state database: %w", row.ID, err)
	}
	if doc.Key.digest() != row.Key || doc.Needs < 1 {
		return doc, fmt.Errorf("approval %s in the state database is damaged", row.ID)
	}
	doc.Answer.State = State(row.State)
	return doc, nil
}
