package dev.perdure.testing.scenarios;

class MemoryPatchScenariosTest extends PatchScenarios implements InMemory {}
