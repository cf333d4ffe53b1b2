package policytest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/petrigate/petrigate/internal/policy"
)

// A Case is what came of a line of cases.
type Case struct {
	Name    string
	Line    int
	Failure string // empty: it passed
	Nothing bool   // the line expects nothing
}

// RunCases plays lines of cases, see [policy.Eval]. Each brings its own policy.
func RunCases(r io.Reader) ([]Case, error) {
	var cases []Case
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading cases: %w", err)
		}
		if len(line) == 0 {
			return cases, nil
		}
		c, err := runCase(line)
		if err != nil {
			return nil, err
		}
		c.Line = number
		cases = append(cases, c)
	}
}

func runCase(line []byte) (Case, error) {
	var out bytes.Buffer
	evaluation, err := policy.Eval(bytes.NewReader(line), &out)
	if err != nil {
		return Case{}, err
	}
	var answer struct {
		Name   string
		Errors []struct {
			Line    int
			Message string
		}
	}
	var with struct{ Expect json.RawMessage }
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		return Case{}, fmt.Errorf("reading an answer: %w", err)
	}
	c := Case{Name: answer.Name}
	switch _ = json.Unmarshal(line, &with); { // what is no case has errors
	case len(evaluation.Differences) > 0:
		d := evaluation.Differences[0]
		c.Failure = fmt.Sprintf("%s is %s, expected %s", d.Path, d.Got, d.Want)
	case with.Expect != nil:
	case len(answer.Errors) > 0:
		c.Failure = answer.Errors[0].Message
	default:
		c.Nothing = true
	}
	return c, nil
}
