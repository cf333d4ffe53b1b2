package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// maxWait is how long one request for changes waits. It is shorter than the timeout of clients.
const maxWait = 25 * time.Second

// Changes holds the approvals of a proxy at one time.
type Changes struct {
	Version   string                  `json:"version"` // identifies this state of the approvals
	Approvals []operator.ApprovalInfo `json:"approvals"`
}

var errEnds = errors.New("the proxy ends")

// awaitChange waits until the approvals differ from those with the version after. An approval
// expires without a notification unless it is queried, so awaitChange looks again when the next one
// expires.
func awaitChange(ctx context.Context, o operator.Proxy, ends <-chan struct{}, after string) (Changes, error) {
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	for {
		changed := o.ApprovalsChanged() // taken before reading, so that no change is missed
		now, err := currentChanges(o)
		if err != nil || now.Version != after {
			return now, err
		}
		over := time.NewTimer(untilNext(now.Approvals))
		select {
		case <-changed:
		case <-over.C:
		case <-limit.C:
			return now, nil
		case <-ends:
			return now, errEnds
		case <-ctx.Done():
			return now, ctx.Err()
		}
		over.Stop()
	}
}

func currentChanges(o operator.Proxy) (Changes, error) {
	now := Changes{Approvals: o.Approvals()}
	text, err := json.Marshal(now.Approvals)
	sum := sha256.Sum256(text)
	now.Version = hex.EncodeToString(sum[:])
	return now, err
}

// untilNext returns the time until the next approval expires.
func untilNext(all []operator.ApprovalInfo) time.Duration {
	next := maxWait
	for _, a := range all {
		if a.State == operator.Pending || a.State == operator.Approved {
			next = min(next, time.Until(a.Expires))
		}
	}
	return max(next, 10*time.Millisecond) // avoids a busy loop if the clock is behind
}
