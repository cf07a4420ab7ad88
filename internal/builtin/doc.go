// Package builtin is the set of tools that every model gets, once for every
// face: their names, descriptions and schemas as data, and Invoke, which turns
// arguments into calls of a workspace and what comes back into values that a
// model can act on. It decides nothing: who may do what is the registry's.
package builtin
