package proxy

import "github.com/petrigate/petrigate/internal/serve/approval"

// channels are those by which people may answer at all.
func (a Approval) channels() []string {
	var open []string
	if a.Elicit {
		open = append(open, approval.Elicit)
	}
	if a.Operator {
		open = append(open, approval.CLI)
	}
	return open
}
