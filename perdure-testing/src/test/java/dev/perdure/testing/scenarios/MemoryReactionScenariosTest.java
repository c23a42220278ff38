package dev.perdure.testing.scenarios;

class MemoryReactionScenariosTest extends ReactionScenarios implements InMemory {}
