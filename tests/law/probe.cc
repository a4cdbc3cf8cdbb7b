// Linked with every object of the rooms under test; its undefined symbols are what they need.
int main() { return 0; }
