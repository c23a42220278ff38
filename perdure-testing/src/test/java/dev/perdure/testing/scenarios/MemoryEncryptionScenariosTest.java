package dev.perdure.testing.scenarios;

class MemoryEncryptionScenariosTest extends EncryptionScenarios implements InMemory {}
