package shell

// settle adds the doubts that depend on the whole script.
func (v *variables) settle(r *reader) {
	evaluated, array := v.tests && v.commandIndex, false // as in x=-v; y='a[$(rm z)]'; [ $x $y ]
	for name, f := range v.facts {
		evaluated = evaluated || f&computed != 0 && (f&free != 0 || implicitVariables[name] || v.wild && isName(name))
		array = array || f&isArray != 0 && f&filled != 0
	}
	if evaluated {
		r.arithmeticOn("arithmetic on text")
	}
	if array {
		r.arrayOf("an array that is read from text")
	}
	if v.made && v.shells {
		r.doubtAll("a text that make expands")
	}
	if v.exported {
		r.doubtObeyed(r.commands)
	}
}

// given records that programs get a variable in their environment. Unless the variable is known to
// be inert, it is uncertain what programs that obey variables do with it.
func (r *reader) given(name string, value arg) {
	if !isInertVariable(name, value) {
		r.vars.given = true
		r.vars.passed = append(r.vars.passed, value)
	}
}

// doubtObeyed adds a doubt if one of the commands may obey an environment variable.
func (r *reader) doubtObeyed(commands []command) {
	for i := range commands {
		if !isSelfContained(commands[i].name) {
			r.sideEffects = true
			r.doubtMild("a variable that a program may obey")
			if !r.strict {
				r.mentions.add(r.vars.passed, len(r.doubts)-1)
			}
			return
		}
	}
}

// otherShell enters a part that runs in another process: the variables and options that it sets are
// lost when the process ends. Call leave at the end of the part.
func otherShell(r *reader) (leave func()) {
	flow, before := r.flow, r.vars.values
	r.vars.values = before.clone()
	r.vars.lost = nil
	return func() { r.flow, r.vars.values = flow, before }
}
