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

// maxWait is how long one question for changes waits: shorter than a client does.
const maxWait = 25 * time.Second

// Changes are the approvals of a proxy at one time.
type Changes struct {
	Version   string                  `json:"version"` // tells these from others
	Approvals []operator.ApprovalInfo `json:"approvals"`
}

var errEnds = errors.New("the proxy ends")

// awaitChange waits until the approvals are others than those of the version after. Nothing
// but their time ends those that are looked at by nobody, so it looks when the next is over.
func awaitChange(ctx context.Context, o operator.Proxy, ends <-chan struct{}, after string) (Changes, error) {
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	for {
		changed := o.ApprovalsChanged() // before the look, or else a change is missed
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

// untilNext is when the time of the next approval is over.
func untilNext(all []operator.ApprovalInfo) time.Duration {
	next := maxWait
	for _, a := range all {
		if a.State == operator.Pending || a.State == operator.Approved {
			next = min(next, time.Until(a.Expires))
		}
	}
	return max(next, 10*time.Millisecond) // a clock that is behind makes no loop
}
