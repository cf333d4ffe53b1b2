package console

import (
	"strconv"

	"github.com/petrigate/petrigate/internal/policy/check"
)

// A claimBody is a refuted claim with the calls that refute it.
type claimBody struct {
	check.Claim
	Number int
	Steps  []check.Step
	At     int // index of the step that is shown
	More   int // number of steps that are left out
	Draft  bool
}

// Step returns the step that is shown.
func (c *claimBody) Step() check.Step { return c.Steps[c.At] }

// Next returns the index of the next step; 0: this is the last one.
func (c *claimBody) Next() int {
	if c.At+1 < len(c.Steps) {
		return c.At + 1
	}
	return 0
}

// claimOf returns a claim that calls refute, at one step of these, or nil.
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

// A stepLink is a link to a step.
type stepLink struct {
	Claim *claimBody
	At    int
	Label string
}

func stepTo(c *claimBody, at int, label string) stepLink { return stepLink{c, at, label} }
