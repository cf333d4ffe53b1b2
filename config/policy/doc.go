// Package policy builds a [gate.Policy] from a configuration, for programs that decide on calls
// themselves. The policy consists of the configuration's rules, its nets in YAML with their
// expressions (validate, remember, when), its default verdict and its mode.
//
//	c, err := config.Load(config.Options{Path: "petrigate.yaml"})
//	...
//	p, err := policy.New(c, policy.Options{})
//	...
//	session := p.NewSession("", gate.SessionOptions{})
//	switch d := session.Decide(call, nil).(type) {
//	case *gate.Refusal:
//		fmt.Println(d.Text, p.Remedy(session, call, d).Text)
//	...
//	}
//
// [Policy.Verify] proves the claims of the configuration (prove) and determines which calls are
// possible. [Policy.Remedy] finds the calls that make a refused call possible.
package policy
