package policytest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// RunCases runs cases as tests, see [Eval]. Each case has its own policy.
func RunCases(r io.Reader) ([]TestResult, error) {
	var cases []TestResult
	err := eachLine(r, func(number int, line []byte) error {
		answer, expect, _ := evalLine(line)
		c := TestResult{Name: answer.Name, Line: number, Result: "pass"}
		d := compare(marshal(answer), expect)
		switch {
		case d != nil:
			c.Result, c.Failure = "fail", &Failure{Got: fmt.Sprintf("%s is %s, expected %s", d.Path, d.Got, d.Want)}
		case expect != nil:
		case len(answer.Errors) > 0:
			c.Result, c.Failure = "fail", &Failure{Got: answer.Errors[0].Message}
		default:
			c.Result = "unchecked"
		}
		cases = append(cases, c)
		return nil
	})
	return cases, err
}

// eachLine calls f for each line with its number, starting at 1. Lines end at LF only.
func eachLine(r io.Reader, f func(number int, line []byte) error) error {
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading cases: %w", err)
		}
		if err != nil && len(line) == 0 {
			return nil
		}
		if err := f(number, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return err
		}
	}
}
