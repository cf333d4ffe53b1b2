package policydiff

import (
	"fmt"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// narrowerStates is the maximum number of states visited to prove a claim.
const narrowerStates = 20_000

// Narrower tries to prove the claim that the policy admits only calls that the rules in a file also
// admit. The file's path is relative to the file that contains the claim.
func Narrower(c policy.Claim, result *policy.Result, source policy.Source, stop func() bool) verify.Proof {
	d, err := compareWithFile(c, result, source, stop)
	switch {
	case err != nil:
		return verify.Proof{Why: fmt.Sprintf("%s: %v", c.File, err)}
	case d.Looser != nil:
		return verify.Proof{Result: verify.Refuted, Counterexample: d.Looser.trace}
	case !d.Excludes("looser"):
		return verify.Proof{Why: d.why}
	}
	return verify.Proof{Result: verify.Proved}
}

// compareWithFile compares the policy built from source with the rules in the file that claim c
// names.
func compareWithFile(c policy.Claim, result *policy.Result, source policy.Source, stop func() bool) (*Comparison, error) {
	file := c.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(c.Rule.File), file)
	}
	base, err := policy.FromFiles([]string{file}, nil)
	if err != nil {
		return nil, err
	}
	return overBase(base, result, source, stop)
}

// overBase compares the policy built from base (the old policy) with the policy built from source
// (the new policy).
func overBase(base policy.Source, result *policy.Result, source policy.Source, stop func() bool) (*Comparison, error) {
	alone, err := policy.Build(base)
	if err != nil {
		return nil, err
	}
	from, err := NewSide(alone, base)
	if err != nil {
		return nil, err
	}
	to, err := NewSide(result, source)
	if err != nil {
		return nil, err
	}
	return Compare(from, to, narrowerStates, stop)
}
