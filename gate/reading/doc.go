// Package reading extracts from calls the data, other than their names, that the nets of a policy
// use: the values of keys, the amounts of sums, and the equality of calls. A record that contains
// this data, even as hashes, is sufficient to repeat the decision without the arguments.
package reading
