"""The Architecture page: graph, layer table, colours, weights of a layer, two models beside each other."""
