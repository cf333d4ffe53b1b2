// Package policy makes a [gate.Policy] of a configuration, for programs that
// decide calls themselves: of its rules, and of its nets in YAML with their
// expressions (validate, remember, when), its default and its mode.
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
// [Policy.Verify] proves what the configuration claims (prove) and says what can be
// called at all, and [Policy.Remedy] names the way out of a refusal, as the program
// petrigate does.
package policy
