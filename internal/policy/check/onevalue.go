package check

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/policy/verify"
	"github.com/petrigate/petrigate/internal/text"
)

// resultOf returns the result of a claim, and of which values it is known.
func resultOf(p proven) string {
	if p.Result == verify.Proved && len(p.OneValue) > 0 {
		return "proved for one " + text.And(p.OneValue)
	}
	return p.Result.String()
}

// oneValue returns what a claim does not say that is proved for one value.
func oneValue(p proven) string {
	if p.Result != verify.Proved || len(p.OneValue) == 0 {
		return ""
	}
	field := p.OneValue[0]
	return fmt.Sprintf("%s: for one %s; another %s is not protected: write `with same %s` or `for each %s`", p.Text, field, field, field, field)
}
