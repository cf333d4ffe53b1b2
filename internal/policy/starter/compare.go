package starter

import (
	"fmt"
	"io"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/rules"
)

// compare prints the proposed statements that the existing policy lacks. It does not change any
// files.
func (plan *Plan) compare(o Options) error {
	more := missingStatements(plan.Rules, plan.existingStatements())
	if more == "" {
		_, err := fmt.Fprintf(o.Err, "%s already has a policy, so nothing is written. init would propose nothing more.\n", plan.ExistingPolicy)
		return err
	}
	_, _ = fmt.Fprintf(o.Err, "%s already has a policy, so nothing is written. init would also propose:\n\n", plan.ExistingPolicy)
	_, err := io.WriteString(o.Out, more)
	return err
}

// missingStatements returns the statements in text that the existing policy lacks, each below its
// comment. have is the set of existing statements.
func missingStatements(text string, have map[string]bool) string {
	var b strings.Builder
	comment := ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			comment = line
			continue
		}
		statement := removeCovered(strings.TrimSpace(line), have)
		if statement == "" {
			continue
		}
		if comment != "" && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(comment + statement + "\n")
		comment = ""
	}
	return b.String()
}

// removeCovered returns a copy of the statement without the names covered by existing statements.
// If the whole statement is covered, it returns the empty string.
func removeCovered(statement string, have map[string]bool) string {
	if have[statement] || have[successPrefix(statement)] {
		return ""
	}
	before, names, after := splitNames(statement)
	if len(names) == 0 {
		return statement
	}
	new := list.Filter(names, func(name string) bool { return !have[before+name+after] })
	if len(new) == 0 {
		return ""
	}
	return before + strings.Join(new, ", ") + after
}

// splitNames splits an approval statement into its list of names and the surrounding text, so that
// statements can be compared name by name. For any other statement, or if some names are not plain,
// splitNames returns no names.
func splitNames(statement string) (before string, names []string, after string) {
	for _, form := range [][2]string{{"require human-approval before ", ""}, {"prove never ", " without human-approval"}} {
		list, begins := strings.CutPrefix(statement, form[0])
		list, ends := strings.CutSuffix(list, form[1])
		names = strings.Split(list, ", ")
		if begins && ends && !strings.ContainsAny(strings.Join(names, ""), ` "#`) {
			return form[0], names, form[1]
		}
	}
	return "", nil, ""
}

// successPrefix returns the part of a success statement before its condition. For any other
// statement, it returns the empty string. Statements are compared without their conditions, because
// an existing statement may have a different condition.
func successPrefix(statement string) string {
	if before, _, ok := strings.Cut(statement, " when "); ok && strings.HasPrefix(statement, "success ") {
		return before
	}
	return ""
}

// existingStatements returns the set of existing statements in canonical form. An approval
// statement about several tools is also included once for each tool, and a success statement is
// also included without its condition.
func (plan *Plan) existingStatements() map[string]bool {
	have := map[string]bool{}
	for _, t := range plan.texts {
		f, _ := rules.Parse("", []byte(t)) // ignore statements that cannot be parsed
		for _, s := range f.Statements {
			have[s.String()] = true
			if tool := successPrefix(s.String()); tool != "" {
				have[tool] = true
			}
			before, names, after := splitNames(s.String())
			for _, name := range names {
				have[before+name+after] = true
			}
		}
	}
	return have
}
