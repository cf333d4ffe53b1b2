// Package policytest runs policy tests, which are written in files named *_test.yaml:
//
//	config: petrigate.yaml     # or rules: safety.rules, nets: [a.net.yaml]
//	tests:
//	  - name: a delete needs a backup
//	    steps:
//	      - call: delete
//	        args: { path: notes.txt }
//	        reason: requires a successful call to backup
//	        rule: safety.rules:3
//	      - call: backup
//	      - call: delete
//
// If a file names no policy, it tests the petrigate.yaml in its directory or, without one, all
// *.rules and *.net.yaml files there. A test starts a new session and runs its steps in order until
// a step does not have the expected result. A step makes a call, ends an earlier call (settle), or
// lets time pass (after). In a step that also makes or ends a call, the time passes first.
//
//	call: deploy             # the tool, by any name that the configuration gives to it
//	args: { env: staging }
//	times: 3                 # number of consecutive calls, all with the same expectation
//	as: first                # name of the call in settle; otherwise, the number of the step
//	session: b               # name of a session; the default is the first session
//	annotations: { readOnlyHint: true }   # of the tool
//	approve: true            # answer to an approval request: true or false
//	result: success          # how the call ends: success, failure, error, unknown or pending
//	expect: allow            # expected verdict: allow, refuse or ask (for approval)
//	reason: not in production   # part of the reason, or a /regular expression/
//	rule: deploy.rules:4     # rule that refuses the call or requires approval, or name of its net
//	would: refuse            # verdict of shadow nets: refuse or ask; reason and rule then describe it
//	names: [deploy]          # names that the call is expected to have
//
//	settle: { call: first, result: failure }
//
// By default, a call is expected to be allowed, and then succeeds. A call with approve: false, or
// with a reason or a rule but without would, is expected to be refused. If a step does not answer an
// approval request, its verdict is ask, and the call is not made. With expect: ask and approve:
// true, approval must be requested, and the call is then allowed.
//
// A counterexample of "petrigate check --json" can be used as a test: its events replace the steps.
// All its calls are expected to be allowed, unless expect sets another verdict for the last one:
//
//	tests:
//	  - name: no deployment without a test
//	    events: [{"type": "call", "id": "1", "tool": "deploy", "approve": true}]
//	    expect: refuse
//
// A test with several sessions lists them with their principals. All sessions begin when the test
// begins. Nets with principal or global scope count across sessions:
//
//	sessions: { a: ann, b: ann, c: bob }
//
// Programs can write such tests as cases in JSON Lines; each line holds a policy and events. [Eval]
// answers each case with the gate's decisions and compares them with the expected ones; [RunCases]
// runs cases as tests.
//
// A [Suite] loads the files of a test run and produces a [Report]; a [Loader] builds each policy
// once and can record [Coverage]. Tests run one after another, in sandboxes with simulated time
// (package sandbox). The package uses no goroutines and no locks.
package policytest
