package console

import (
	"strconv"

	"github.com/petrigate/petrigate/internal/policy/check"
)

// A claimBody holds a refuted claim about the policy, along with a sequence of calls that refutes
// it.
type claimBody struct {
	check.Claim
	Number int
	Steps  []check.Step
	At     int // index of the displayed step
	More   int // number of steps that the report leaves out
	Draft  bool
}

// Step returns the displayed step.
func (c *claimBody) Step() check.Step { return c.Steps[c.At] }

// Next returns the index of the next step, or 0 if the displayed step is the last one.
func (c *claimBody) Next() int {
	if c.At+1 < len(c.Steps) {
		return c.At + 1
	}
	return 0
}

// claimOf returns the data for displaying one step of the sequence of calls that refutes a claim.
// The number is the claim's index in the report. claimOf returns nil if the report has no such
// claim, or no sequence that refutes it.
func claimOf(report *check.Report, number int, step string) *claimBody {
	claims := report.Claims()
	if number < 0 || number >= len(claims) {
		return nil
	}
	c := &claimBody{Claim: claims[number], Number: number}
	c.Steps, c.More = report.Steps(number)
	if len(c.Steps) == 0 {
		return nil
	}
	at, _ := strconv.Atoi(step)
	c.At = min(max(at, 0), len(c.Steps)-1)
	return c
}

// A stepLink is a link to one step of a refuted claim.
type stepLink struct {
	Claim *claimBody
	At    int
	Label string
}

func stepTo(c *claimBody, at int, label string) stepLink { return stepLink{c, at, label} }
