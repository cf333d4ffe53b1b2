package gate

import "slices"

// ignoredArguments are the arguments that do not matter when calls are compared; see [Ignored].
type ignoredArguments struct {
	given  []Ignored           // the list from the policy's options
	byTool map[string][]string // names of the ignored arguments, by tool name
}

func newIgnoredArguments(all []Ignored) ignoredArguments {
	a := ignoredArguments{given: slices.Clone(all), byTool: make(map[string][]string, len(all))}
	for _, i := range all {
		a.byTool[i.Tool] = append(a.byTool[i.Tool], i.Field)
	}
	return a
}

// ofCall returns the ignored arguments of the call c.
func (a *ignoredArguments) ofCall(c *Call) []string {
	if len(a.byTool) == 0 {
		return nil
	}
	var fields []string
	if !c.Foreign {
		fields = slices.Concat(fields, a.byTool[c.Tool])
	}
	for _, n := range c.Also {
		if n.Certain {
			fields = slices.Concat(fields, a.byTool[n.Text])
		}
	}
	return fields
}

// unusual returns the arguments that the policy, rather than the tool, declares as ignored; see
// [Ignored]. They are part of the policy's fingerprint.
func (a *ignoredArguments) unusual() []Ignored {
	return slices.DeleteFunc(slices.Clone(a.given), func(i Ignored) bool { return i.Usual })
}
