package draft

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/policydiff"
	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/rules"
)

// A candidate is the configuration that would result if a draft were applied to the configuration
// in force.
type candidate struct {
	text    Text
	current *config.Config
	inForce *policy.Result
	config  *config.Config // if nil, the draft cannot be parsed, and problems contains the reasons

	problems diag.List // problems in the configuration, followed by those found in the draft
	outside  int       // number of problems in the configuration
}

// applyDraft returns the candidate that results from applying the draft to the configuration in
// force.
func (d *Evaluator) applyDraft(draft Draft) (*candidate, error) {
	if len(draft.Text) > MaxText {
		return nil, ErrLong
	}
	c, result := d.options.InForce()
	found := list.Find(texts(c), func(t Text) bool { return t.ID == draft.Of })
	switch {
	case found == nil:
		return nil, ErrGone
	case found.Closed != "":
		return nil, errors.New(found.Closed)
	}
	t := *found
	if !strings.Contains(t.Text, "\r\n") {
		draft.Text = strings.ReplaceAll(draft.Text, "\r\n", "\n") // browsers send form text with CRLF line endings
	}
	if t.Text = draft.Text; t.Kind != Nets {
		if f, wrong := rules.Parse(t.Name, []byte(t.Text)); len(f.Statements)+len(wrong) > MaxRules {
			return nil, ErrMany
		}
	}
	x := &candidate{text: t, current: c, inForce: result, problems: slices.Clone(d.currentPolicy(c, result).problems)}
	x.outside = len(x.problems)
	var err error
	if t.Kind == Nets {
		x.config, err = c.WithNets(t.Name, t.Text)
	} else {
		x.config, err = c.WithRules(t.index, t.Text)
	}
	if err != nil {
		found, rest := check.ConfigProblems(err)
		x.problems, x.outside = found, 0 // the draft cannot be loaded, so only the reasons are reported
		return x, rest
	}
	return x, nil
}

// build returns the policy that results from the draft, and the policy in force. Neither is in
// shadow mode, even if the configuration sets this mode, because a policy in shadow mode allows
// every call. If the draft cannot be loaded, the error explains why.
func (x *candidate) build() (is, was *policy.Result, err error) {
	if x.config == nil {
		return nil, nil, x.problems
	}
	if is, err = policy.Build(x.source(x.config)); err != nil {
		return nil, nil, err
	}
	if was = x.inForce; x.current.Mode == "shadow" {
		was, err = policy.Build(x.source(x.current))
	}
	return is, was, err
}

// source returns the rules and nets of the configuration c. The result enforces the policy even if
// the configuration puts it in shadow mode. Nets that are themselves in shadow mode remain in that
// mode.
func (x *candidate) source(c *config.Config) policy.Source {
	s := policy.FromConfig(c)
	s.Mode = ""
	return s
}

// narrower returns a function that proves narrower-than claims. Such a claim compares the policy
// with a policy in another file. The function reads a file only if a claim of the policy in force
// names it, because a draft must not make petrigate read other files.
func narrower(force *policy.Result) func(policy.Claim, *policy.Result, policy.Source, func() bool) verify.Proof {
	place := func(c policy.Claim) string {
		if filepath.IsAbs(c.File) {
			return filepath.Clean(c.File)
		}
		return filepath.Join(filepath.Dir(c.Rule.File), c.File)
	}
	named := map[string]bool{}
	for _, c := range force.Claims {
		if c.Kind == rules.NarrowerThan {
			named[place(c)] = true
		}
	}
	return func(c policy.Claim, result *policy.Result, source policy.Source, stop func() bool) verify.Proof {
		if !named[place(c)] {
			return verify.Proof{Why: "drafts cannot read files; petrigate check compares with " + c.File}
		}
		return policydiff.Narrower(c, result, source, stop)
	}
}
