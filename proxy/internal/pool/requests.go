package pool

import (
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// Waiting is those of the inquiries that have no answer.
func Unanswered(all []*upstream.ServerRequest) []*upstream.ServerRequest {
	kept := all[:0]
	for _, q := range all {
		if q.Context().Err() == nil {
			kept = append(kept, q)
		}
	}
	clear(all[len(kept):])
	return kept
}
