package callclass

// Bounds on the classes enumerated.
const (
	maxClassesOfTool = 2048
	maxClasses       = 8192
	maxMapsOfField   = 8 // maps of one field whose subsets are all tried
	maxListed        = 5 // the same, for enumeration in advance
)
