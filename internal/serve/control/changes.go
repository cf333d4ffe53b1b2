package control

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// maxWait limits how long the server waits for a change before it responds to a request. It is
// shorter than the client's timeout.
const maxWait = 25 * time.Second

// Changes is a snapshot of a proxy's approvals.
type Changes struct {
	Version   string                  `json:"version"` // hash of Approvals
	Approvals []operator.ApprovalInfo `json:"approvals"`
}

var errEnds = errors.New("the proxy ends")

// awaitChange returns the approvals as soon as they differ from those with the given version, or
// when a time limit has passed. The proxy notices that an approval has expired only when something
// reads or changes the approvals. Therefore, awaitChange also reads them when the next one is due
// to expire. If the proxy shuts down or ctx is done, awaitChange returns an error.
func awaitChange(ctx context.Context, o operator.Proxy, ends <-chan struct{}, after string) (Changes, error) {
	limit := time.After(maxWait)
	for {
		changed := o.ApprovalsChanged() // get the channel before reading the approvals, so that no change is missed
		now, err := currentChanges(o)
		if err != nil || now.Version != after {
			return now, err
		}
		select {
		case <-changed:
		case <-time.After(untilNext(now.Approvals)):
		case <-limit:
			return now, nil
		case <-ends:
			return now, errEnds
		case <-ctx.Done():
			return now, ctx.Err()
		}
	}
}

func currentChanges(o operator.Proxy) (Changes, error) {
	now := Changes{Approvals: o.Approvals()}
	text, err := json.Marshal(now.Approvals)
	now.Version = fmt.Sprintf("%x", sha256.Sum256(text))
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
	return max(next, 10*time.Millisecond) // avoid a busy loop while an expired approval is still listed
}
