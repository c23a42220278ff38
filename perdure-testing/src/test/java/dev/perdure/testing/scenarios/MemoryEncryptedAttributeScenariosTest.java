package dev.perdure.testing.scenarios;

class MemoryEncryptedAttributeScenariosTest extends EncryptedAttributeScenarios implements InMemory {}
