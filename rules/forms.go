package rules

// Forms of statements, shown in hints.
const (
	requireForm    = "write: require A before B"
	orForm         = "write: require A or B before C, or: require A, B before C"
	approveForm    = "write: require human-approval before B"
	personsForm    = "write: require 2 human-approvals before A"
	viaForm        = "write: require human-approval via cli before B"
	blockForm      = "write: block A"
	limitForm      = "write: limit A to 3 per session"
	atOnceForm     = "write: limit A to 1 at once"
	inARowForm     = "write: limit A to 3 in a row"
	sumForm        = "write: limit A to 1000 of amount per day"
	userForm       = "write: per user per day"
	allowForm      = "write: allow A, B"
	sinceForm      = "write: require A before B since C"
	afterForm      = "write: block B after A until C"
	successfulForm = "write: limit A to 3 per successful B; quote a tool named successful"
	unlessForm     = "write: unless A, B"
	becauseForm    = `write: because "Use another tool instead."`
	mapForm        = "write: map tool.field word as name"
	runsForm       = "write: map tool.field runs command as name"
	readsForm      = "write: map tool.field reads .env* as name"
	whenForm       = `write: map tool when "args.amount > 100" as name`
	successForm    = `write: success tool when "result.exitCode == 0"`
	exampleForm    = `write: example tool.field "text" as name, or: not as name`
	shadowForm     = "write: shadow block A"
)

// Clauses of each rule in order, shown in hints.
const (
	requireClauses = `the order is: require A before B once since C with same path unless D because "..."`
	approveClauses = `the order is: require 2 human-approvals via cli before B after A until C unless D because "..."`
	blockClauses   = `the order is: block B after A until C unless D because "..."`
	limitClauses   = `the order is: limit A to 3 per hour for each path unless B because "..."`
	allowClauses   = `allow accepts names and a reason: allow A, B because "..."`
)

// Forms of keys, shown in hints.
const (
	sameForm  = "write: with same path, or: with same src as path"
	eachForm  = "write: for each path"
	fieldForm = `a field is a key, a path such as $.file.path, or an expression in quotes`
)

// withinHint is the hint for the word "within" in a requirement. Authors write it to limit the age
// of a success, but rules cannot do this.
const withinHint = "rules cannot limit the age of a success; it unlocks one call (require A before B), or counts until another call: require A before B since C"
