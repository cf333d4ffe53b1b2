package toolnet

// Ignored is a tool argument that describes or times a call without changing its effect, such as a
// description for people. Calls that differ only in ignored arguments are equal.
type Ignored struct {
	Tool  string // a name that calls certainly have
	Field string // the argument's key

	// Usual means that the tool's makers define the argument in this way, so that the entry holds
	// wherever the tool is used. Usual is not part of a policy's fingerprint.
	Usual bool `json:"-"`
}
