package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/text"
)

// Stream prints the pending approvals of all proxies that have a socket in dir. It then prints each
// change to an approval. Each approval is one line of JSON.
func Stream(ctx context.Context, dir string, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o, known, printed := overview{}, map[string]bool{}, map[string]operator.ApprovalInfo{}
	told := follow(ctx, dir)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case n := <-told:
			if n.err != nil {
				return n.err
			}
			first := n.client != nil && !known[n.client.Path]
			if o.apply(n); n.client != nil {
				known[n.client.Path] = !n.gone
			}
			if err := printChanges(w, o.all(), printed, first); err != nil {
				return err
			}
		}
	}
}

// printChanges prints the approvals that are new or have changed. It also prints approvals that
// were pending or approved and have now disappeared. If first is true, the proxy has just been
// found, and printChanges omits new approvals that are not pending.
func printChanges(w io.Writer, all map[string]locatedApproval, printed map[string]operator.ApprovalInfo, first bool) error {
	type line struct {
		Version  int                   `json:"version"`
		Approval operator.ApprovalInfo `json:"approval"`
		Gone     bool                  `json:"gone,omitempty"` // whether the approval has disappeared, because its proxy has ended and no other running proxy has it
	}
	var lines []line
	for id, o := range all {
		before, known := printed[id]
		if known && before.State == o.it.State && before.Approvals == o.it.Approvals {
			continue
		}
		if printed[id] = o.it; known || !first || o.it.State == operator.Pending {
			lines = append(lines, line{1, o.it, false})
		}
	}
	for id, a := range printed {
		if _, there := all[id]; !there {
			delete(printed, id)
			if a.State == operator.Pending || a.State == operator.Approved {
				lines = append(lines, line{1, a, true})
			}
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return compareAge(a.Approval, b.Approval) })
	for _, l := range lines {
		out, err := json.Marshal(l)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n", text.EscapeJSON(out)); err != nil {
			return err
		}
	}
	return nil
}

// compareAge orders approvals by age, oldest first.
func compareAge(a, b operator.ApprovalInfo) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
}
