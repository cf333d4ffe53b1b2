// Package reading extracts the data that a policy's nets use besides names from calls: key values,
// the amounts of sums, and whether calls are equal. A record that contains this data, even as
// hashes, suffices to repeat the decision without the arguments.
package reading
