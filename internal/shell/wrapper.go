package shell

import (
	"slices"
	"strings"
)

// A wrapper is a program that runs a command named by its arguments.
type wrapper struct {
	options     func() *optionTable // options before the command; if an option marked "!" is given, no command runs
	operands    int                 // number of operands before the command
	assigns     bool                // whether assignments such as name=value may precede the command
	joins       bool                // whether the words of the command are joined with spaces and run as a script
	optional    bool                // whether the command may be missing
	transparent bool                // whether the wrapper succeeds if and only if the command succeeds
}

// wrappers is the table of wrappers, keyed by name.
var wrappers = eachName(map[string]wrapper{
	"command":          {options: lazyOptions("p !v !V"), optional: true, transparent: true},
	"builtin":          {options: lazyOptions(""), optional: true, transparent: true},
	"exec":             {options: lazyOptions("c l a="), optional: true, transparent: true},
	"time":             {options: lazyOptions("a p v q f= o= portability verbose append quiet format= output="), optional: true, transparent: true},
	"env,genv":         {options: lazyOptions("i 0 v u= C= ignore-environment null debug unset= chdir="), assigns: true, optional: true, transparent: true},
	"sudo":             {options: lazyOptions(sudoOptions), assigns: true, transparent: true},
	"doas":             {options: lazyOptions("n !L u= C= a="), transparent: true},
	"nice,gnice":       {options: lazyOptions("# n= adjustment="), optional: true, transparent: true},
	"ionice":           {options: lazyOptions("t c= n= !p= !P= !u= class= classdata= ignore !pid="), optional: true, transparent: true},
	"nohup,gnohup,-":   {options: lazyOptions(""), transparent: true},
	"timeout,gtimeout": {options: lazyOptions("v f k= s= foreground preserve-status verbose kill-after= signal="), operands: 1, transparent: true},
	"stdbuf,gstdbuf":   {options: lazyOptions("i= o= e= input= output= error="), transparent: true},
	"winpty":           {options: lazyOptions(""), transparent: true},
	"wsl":              {options: lazyOptions("e d= u= distribution= user= cd= exec shell-type= system !l !list !install !shutdown !status !update"), optional: true},
	"setsid":           {options: lazyOptions("c f w ctty fork wait")},
	"chroot":           {options: lazyOptions("userspec= groups= skip-chdir"), operands: 1, transparent: true},
	"busybox":          {options: lazyOptions("!list !list-full"), optional: true, transparent: true},
	"taskset":          {options: lazyOptions("a c !p all-tasks cpu-list !pid"), operands: 1, transparent: true},
	"chrt":             {options: lazyOptions("a b d f i o r R v !m T= P= D= batch deadline fifo idle other rr reset-on-fork verbose all-tasks !max"), operands: 1, transparent: true},
	"strace":           {options: lazyOptions(straceOptions), optional: true},
	"systemd-run":      {options: lazyOptions(systemdOptions), assigns: true},
	"jobs":             {options: lazyOptions("l n p r s x"), optional: true},
	"ssh":              {options: lazyOptions(sshOptions), operands: 1, joins: true},
	"watch":            {options: lazyOptions("b c C d e g p t w x r n= q= s= beep color no-color differences errexit chgexit no-title precise no-wrap exec interval= equexit="), joins: true},
})

const (
	sudoOptions    = "A b B E H n P S k !K !l !v !V C= D= g= h= p= r= R= T= t= U= u= askpass background preserve-env~ set-home non-interactive preserve-groups prompt= reset-timestamp stdin user= group= chdir= chroot= host= close-from= role= type= other-user= command-timeout= !list !version !validate !remove-timestamp"
	straceOptions  = "c C d D f F h i k n q r t T v V w x y Y z Z a= E= e= b= I= o= O= p= P= s= S= u= U= X= follow-forks summary summary-only trace= output= quiet attach= string-limit= timestamps"
	systemdOptions = "d G P q r t S E= p= u= H= M= user system scope unit= property= description= slice= remain-after-exit send-sighup service-type= uid= gid= nice= working-directory= same-dir setenv= pty pipe quiet collect wait no-block no-ask-password machine= host="
	sshOptions     = "4 6 A a C f !G g K k M !N n q s T t !V v X x Y y B= b= c= D= E= e= F= I= i= J= L= l= m= o= p= !Q= R= S= W= w="
)

// read returns the [plan] of the named wrapper for the arguments args. The plan contains the
// command that the wrapper runs, and the effects of its options.
func (w *wrapper) read(name string, args []arg) (p plan) {
	if name == "command" && len(args) > 0 && args[0].matchWord("=-v =-V") != "" {
		return p // command -v and command -V describe the words after them without running anything
	}
	found, rest, ok := w.options().splitLeading(args)
	if !ok {
		return plan{{do: addsOptions, what: "a wrapper with unknown options", args: args}}
	}
	if slices.ContainsFunc(found, func(o givenOption) bool { return !o.known.inert }) {
		return p
	}
	p.readOptionValues(name, found)
	if name == "sudo" && (has(found, "b") || has(found, "background")) {
		p.add(inBackground, "")
	}
	if w.assigns {
		rest = p.readEnvironment(rest)
	}
	n := min(w.operands, len(rest))
	operands, rest := rest[:n], rest[n:]
	if w.joins && n > 0 && len(rest) > 0 && isOption(rest[0].text) { // options may follow the operands, as in ssh host -p 22 ls
		if found, rest, ok = w.options().splitLeading(rest); !ok {
			p.add(addsOptions, "a wrapper with unknown options", args...)
			return p
		}
		p.readOptionValues(name, found)
	}
	switch {
	case slices.ContainsFunc(operands, func(a arg) bool { return a.kind > single }):
		p.addDoubt(inText, "a wrapper with unknown operands", args...)
	case len(rest) == 0 && !w.optional:
		p.addDoubt(inText, "a wrapper without a command")
	case w.joins:
		p.add(runsElsewhere, "", rest...)
	default:
		p.add(passesCommand, "", rest...)
	}
	return p
}

// inertSSHSettings lists the settings of ssh that do not run anything.
var inertSSHSettings = setOf(`batchmode stricthostkeychecking connecttimeout userknownhostsfile serveraliveinterval serveralivecountmax loglevel port user
	identityfile identitiesonly compression forwardagent controlmaster controlpath controlpersist requesttty tcpkeepalive addkeystoagent`)

// readOptionValues adds a step to the plan for each of the wrapper's options that sets a variable,
// may run something or names an output file.
func (p *plan) readOptionValues(program string, found []givenOption) {
	for _, o := range found {
		value := strings.ToLower(o.value.text)
		setting, _, _ := strings.Cut(o.value.text, "=")
		switch {
		case strings.HasPrefix(value, "|"), strings.HasPrefix(value, "!"), // runs a command, as in strace --output '|rm x'
			o.name == "o" && (strings.Contains(value, "command") || strings.Contains(value, "include")), // runs a command, as in ssh -o ProxyCommand=...
			(o.name == "o" || o.name == "p") && strings.Contains(value, "exec"),                         // runs a command, as in systemd-run -p ExecStartPre=...
			o.name == "I" && strings.ContainsAny(value, "/."),                                           // loads a library, as in ssh -I x.so
			o.name == "property":
			p.addDoubt(inText, "an option that runs a command", o.value)
		case o.name == "o" && o.value.kind != literal:
			p.addDoubt(inText, "an option that is not literal", o.value)
		case (o.name == "o" || o.name == "J" || o.name == "F") && program == "ssh" && !inertSSHSettings[strings.ToLower(setting)]:
			p.addDoubt(inText, "an ssh option", o.value)
		case o.name == "setenv", o.name == "E" && strings.Contains(value, "="):
			p.readEnvironment([]arg{o.value})
		case (o.name == "o" || o.name == "output") && !strings.ContainsAny(value, "= "):
			p.add(writesFile, "", o.value) // names an output file, as in strace -o f
		}
	}
}

// readEnvironment adds a step to the plan for each leading argument of the form name=value. It
// returns the remaining arguments.
func (p *plan) readEnvironment(args []arg) (rest []arg) {
	for len(args) > 0 {
		name, value, ok := args[0].cut()
		if !ok || args[0].kind > single || strings.HasPrefix(name, "-") {
			return args
		}
		p.add(givesVariable, name, value)
		args = args[1:]
	}
	return args
}
